import { ADMIN } from "@sluice/wire";
import { count, many } from "../format.ts";
import { useAnswer } from "../load.ts";
import { Link, type Place } from "../router.tsx";
import { Card, Head, Nothing, TroubleBox, Waiting } from "../ui/bits.tsx";
import { Pager } from "../ui/pages.tsx";
import { joined, NodeData, nodePage } from "./raw-nodes.tsx";

export function Nodes({ place }: { readonly place: Place }) {
  const path = place.query.get("path") ?? "/";
  const cursor = place.query.get("cursor") ?? undefined;
  const { value: node, trouble } = useAnswer(ADMIN.node, { query: { path, cursor } });
  return (
    <>
      <Head title="Nodes" above={<Link to="/maintenance">Maintenance</Link>} />
      <Trail path={path} />
      <TroubleBox trouble={trouble} />
      {node === null ? (
        trouble === null ? (
          <Waiting />
        ) : null
      ) : (
        <div class="columns">
          <Card title={`${count(node.children_count)} below`}>
            {node.children.length === 0 ? (
              <Nothing>
                {node.children_count === 0 ? "No children." : many(node.children_count, "child", "children")}
              </Nothing>
            ) : (
              <ul class="children">
                {node.children.map((child) => (
                  <li key={child}>
                    <Link to={nodePage(joined(path, child))}>{child}</Link>
                  </li>
                ))}
              </ul>
            )}
            <Pager place={place} next={node.next_cursor} />
          </Card>
          <Card title="Data">
            <NodeData node={node} />
          </Card>
        </div>
      )}
    </>
  );
}

function Trail({ path }: { readonly path: string }) {
  const parts = path.split("/").filter((part) => part !== "");
  return (
    <nav class="trail" aria-label="Path">
      <Link to={nodePage("/")}>/</Link>
      {parts.map((part, i) => (
        <span key={i}>
          {i > 0 ? " / " : " "}
          <Link to={nodePage(`/${parts.slice(0, i + 1).join("/")}`)}>{part}</Link>
        </span>
      ))}
    </nav>
  );
}
