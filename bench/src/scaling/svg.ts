/** As much of SVG as a plot needs. */

export type Point = readonly [x: number, y: number];

const at = ([x, y]: Point): string => `${x.toFixed(1)},${y.toFixed(1)}`;
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

export interface TextStyle {
  readonly size?: number;
  readonly anchor?: "start" | "middle" | "end";
  readonly colour?: string;
  readonly bold?: boolean;
}

export const text = ([x, y]: Point, words: string, style: TextStyle = {}): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${style.size ?? 11}" text-anchor="${style.anchor ?? "start"}" ` +
  `fill="${style.colour ?? "#444"}"${style.bold === true ? ' font-weight="bold"' : ""}>${escaped(words)}</text>`;

export const line = (from: Point, to: Point, colour: string, dashes = ""): string =>
  `<path d="M${at(from)}L${at(to)}" stroke="${colour}"${dashes === "" ? "" : ` stroke-dasharray="${dashes}"`} fill="none"/>`;

export const curve = (points: readonly Point[], colour: string, width = 1.6): string =>
  `<path d="M${points.map(at).join("L")}" stroke="${colour}" stroke-width="${width}" fill="none" stroke-linejoin="round"/>`;

/** Constant from each point to the next; points that change nothing are left out. */
export const steps = (points: readonly Point[]): readonly Point[] =>
  points.flatMap((point, n): readonly Point[] => {
    const before = points[n - 1];
    if (before === undefined) return [point];
    if (before[1] === point[1]) return n === points.length - 1 ? [point] : [];
    return [[point[0], before[1]], point];
  });

export const document = (width: number, height: number, title: string, parts: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
