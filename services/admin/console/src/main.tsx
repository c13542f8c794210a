import { ADMIN } from "@sluice/wire";
import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { call, SIGNED_OUT, type Trouble, troubleOf } from "./api.ts";
import { Login } from "./pages/login.tsx";
import { Session, type SessionValue } from "./session.tsx";
import { Shell } from "./shell.tsx";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/parts.css";
import "./styles/picture.css";
import { TroubleBox, Waiting } from "./ui/bits.tsx";

type Here =
  | { readonly kind: "asking" }
  | { readonly kind: "nobody" }
  | { readonly kind: "trouble"; readonly trouble: Trouble }
  | { readonly kind: "somebody"; readonly session: SessionValue };

async function whoIsHere(): Promise<Here> {
  const [me, model] = await Promise.all([call(ADMIN.me, {}), call(ADMIN.model, {})]);
  if (!me.ok) return without(troubleOf(me));
  if (!model.ok) return without(troubleOf(model));
  return { kind: "somebody", session: { me: me.value, model: model.value } };
}

const without = (trouble: Trouble): Here =>
  trouble.status === 401 ? { kind: "nobody" } : { kind: "trouble", trouble };

const RETRY_MS = 3_000;

function App() {
  const [here, setHere] = useState<Here>({ kind: "asking" });
  const look = useCallback(() => void whoIsHere().then(setHere), []);
  useEffect(() => {
    const out = (): void => setHere({ kind: "nobody" });
    addEventListener(SIGNED_OUT, out);
    look();
    return () => removeEventListener(SIGNED_OUT, out);
  }, []);
  useEffect(() => {
    if (here.kind !== "trouble") return undefined;
    const timer = setTimeout(look, RETRY_MS);
    return () => clearTimeout(timer);
  }, [here]);
  switch (here.kind) {
    case "asking":
      return (
        <main id="main">
          <Waiting />
        </main>
      );
    case "trouble":
      return (
        <main id="main">
          <TroubleBox trouble={here.trouble} />
        </main>
      );
    case "nobody":
      return <Login onDone={look} />;
    case "somebody":
      return (
        <Session.Provider value={here.session}>
          <Shell />
        </Session.Provider>
      );
  }
}

const root = document.getElementById("console");
if (root !== null) render(<App />, root);
