import { ADMIN, type NodeView } from "@sluice/wire";
import { useState } from "preact/hooks";
import { bytes } from "../format.ts";
import { useAnswer } from "../load.ts";
import { Link } from "../router.tsx";
import { Card, Facts, Time, TroubleBox, Waiting } from "../ui/bits.tsx";

export const nodePage = (path: string): string => `/nodes?path=${encodeURIComponent(path)}`;

export const joined = (path: string, child: string): string => (path === "/" ? `/${child}` : `${path}/${child}`);

/** Pretty where it is JSON. */
function shownData({ data, encoding }: NodeView): string {
  if (encoding !== "json") return data;
  try {
    return JSON.stringify(JSON.parse(data), null, 2);
  } catch {
    return data;
  }
}

export function NodeData({ node }: { readonly node: NodeView }) {
  return (
    <>
      <Facts
        rows={[
          ["Version", String(node.version)],
          ["Modified", <Time at={node.modified} />],
          ["Size", bytes(node.data.length)],
          ["Ephemeral", node.ephemeral ? "yes" : null],
        ]}
      />
      {node.encoding === "empty" ? <p class="quiet">No data.</p> : <pre tabIndex={0}>{shownData(node)}</pre>}
    </>
  );
}

/** The nodes of one thing, read when somebody wants to see them. */
export function RawNodes({ path }: { readonly path: string }) {
  const [open, setOpen] = useState(false);
  return (
    <Card title="Raw znodes" aside={<Link to={nodePage(path)}>Browse</Link>}>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <code>{path}</code>
        </summary>
        {open ? <Inside path={path} /> : null}
      </details>
    </Card>
  );
}

function Inside({ path }: { readonly path: string }) {
  const { value, trouble } = useAnswer(ADMIN.node, { query: { path } });
  if (value === null) return trouble === null ? <Waiting /> : <TroubleBox trouble={trouble} />;
  return (
    <div class="nodes">
      <NodeData node={value} />
      {value.children.map((child) => (
        <Child key={child} path={joined(path, child)} name={child} />
      ))}
    </div>
  );
}

function Child({ path, name }: { readonly path: string; readonly name: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <code>{name}</code>
      </summary>
      {open ? <Inside path={path} /> : null}
    </details>
  );
}
