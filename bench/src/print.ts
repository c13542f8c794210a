/** One JSON line per finding. */
export const print = (what: string, figures: object): void => console.log(JSON.stringify({ what, ...figures }));
