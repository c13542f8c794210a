/** Every line of the three checklists: what the documents ask for, one line each. */

const numbered = (letter: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);

const BEDROCK = [
  ...numbered("A", 10),
  ...numbered("B", 15),
  ...numbered("C", 13),
  ...numbered("D", 12),
  ...numbered("E", 8),
  ...numbered("F", 15),
  ...numbered("G", 7),
  ...numbered("H", 7),
];

export const LINES = {
  bedrock: BEDROCK,
  etcd: numbered("E", 23),
  serverless: numbered("M", 29),
} as const;

export type Checklist = keyof typeof LINES;
