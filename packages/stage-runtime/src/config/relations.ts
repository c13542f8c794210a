/** Values by variable name, as far as each of them alone was right. */
export type Values = Readonly<Record<string, unknown>>;

/** What must hold between values. It is looked at whenever the values it needs are right, whatever else is wrong. */
export interface Relation {
  /** The variable that is blamed. */
  readonly path: string;
  readonly needs: readonly string[];
  readonly holds: (values: Values) => boolean;
  readonly message: string;
}

export function brokenRelations(relations: readonly Relation[], values: Values): readonly string[] {
  return relations
    .filter(({ needs }) => needs.every((name) => values[name] !== undefined))
    .filter(({ holds }) => !holds(values))
    .map(({ path, message }) => `${path}: ${message}`);
}
