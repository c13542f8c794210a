/** Some time, or until the caller has had enough of waiting. */
export function pause(ms: number, aborted?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      aborted?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    aborted?.addEventListener("abort", end, { once: true });
    if (aborted?.aborted === true) end();
  });
}
