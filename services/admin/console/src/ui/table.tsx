/** Real tables on wide screens, cards on phones: each cell knows its column's name. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Nothing, Waiting } from "./bits.tsx";

export interface Column<T> {
  readonly name: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Sorts what is shown; absent where only the server could. */
  readonly by?: (row: T) => string | number;
  readonly numeric?: boolean;
  /** Holds sentences: it gets the room. */
  readonly wide?: boolean;
}

const classOf = ({ numeric, wide }: Pick<Column<never>, "numeric" | "wide">): string | undefined =>
  numeric === true ? "number" : wide === true ? "wide" : undefined;

export interface Picking {
  readonly picked: ReadonlySet<string>;
  readonly pick: (picked: ReadonlySet<string>) => void;
}

interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  /** null: not known yet. */
  readonly rows: readonly T[] | null;
  readonly keyOf: (row: T) => string;
  readonly empty: ComponentChildren;
  readonly picking?: Picking;
}

interface Order {
  readonly column: string;
  readonly down: boolean;
}

export function Table<T>({ caption, columns, rows, keyOf, empty, picking }: TableProps<T>) {
  const [order, setOrder] = useState<Order | null>(null);
  if (rows === null) return <Waiting />;
  if (rows.length === 0) return <Nothing>{empty}</Nothing>;
  const sorted = sortedBy(rows, columns, order);
  return (
    <div class="scroll">
      <table>
        <caption class="spoken">{caption}</caption>
        <thead>
          <tr>
            {picking === undefined ? null : <PickAll keys={rows.map(keyOf)} picking={picking} />}
            {columns.map((column) => (
              <Heading key={column.name} column={column} order={order} setOrder={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={keyOf(row)}>
              {picking === undefined ? null : <PickOne id={keyOf(row)} picking={picking} />}
              {columns.map((column) => (
                <td key={column.name} data-name={column.name} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function sortedBy<T>(rows: readonly T[], columns: readonly Column<T>[], order: Order | null): readonly T[] {
  const by = columns.find(({ name }) => name === order?.column)?.by;
  if (order === null || by === undefined) return rows;
  const sign = order.down ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [by(a), by(b)];
    return typeof x === "number" && typeof y === "number" ? sign * (x - y) : sign * String(x).localeCompare(String(y));
  });
}

interface HeadingProps<T> {
  readonly column: Column<T>;
  readonly order: Order | null;
  readonly setOrder: (order: Order) => void;
}

function Heading<T>({ column: { name, by, ...look }, order, setOrder }: HeadingProps<T>) {
  const ours = order?.column === name ? order : null;
  const sort = ours === null ? undefined : ours.down ? "descending" : "ascending";
  return (
    <th scope="col" class={classOf(look)} {...(sort === undefined ? {} : { "aria-sort": sort })}>
      {by === undefined ? (
        name
      ) : (
        <button
          type="button"
          class="sort"
          onClick={() => setOrder({ column: name, down: ours !== null && !ours.down })}
        >
          {name} <span aria-hidden="true">{ours === null ? "↕" : ours.down ? "↓" : "↑"}</span>
        </button>
      )}
    </th>
  );
}

function PickAll({ keys, picking: { picked, pick } }: { readonly keys: readonly string[]; readonly picking: Picking }) {
  const all = keys.every((key) => picked.has(key));
  return (
    <th scope="col" class="pick">
      <input
        type="checkbox"
        aria-label="Select all on this page"
        checked={all}
        onChange={() => pick(all ? new Set() : new Set(keys))}
      />
    </th>
  );
}

function PickOne({ id, picking: { picked, pick } }: { readonly id: string; readonly picking: Picking }) {
  const change = (): void => {
    const next = new Set(picked);
    if (!next.delete(id)) next.add(id);
    pick(next);
  };
  return (
    <td class="pick">
      <input type="checkbox" aria-label={`Select ${id}`} checked={picked.has(id)} onChange={change} />
    </td>
  );
}
