/** The port of the real clock for parts that wake themselves: returns the way to stop it. */
export const later = (ms: number, wake: () => void): (() => void) => {
  const timer = setTimeout(wake, ms);
  return () => clearTimeout(timer);
};
