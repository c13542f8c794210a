import { useState } from "preact/hooks";
import { signIn } from "../api.ts";

export function Login({ onDone }: { readonly onDone: () => void }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    const trouble = await signIn(token.trim());
    setBusy(false);
    setProblem(trouble);
    if (trouble === null) onDone();
  }
  return (
    <main class="login" id="main">
      <form class="card" onSubmit={(event) => void submit(event)}>
        <h1>Sluice</h1>
        <p class="quiet">Deposits on their way into preservation. Show the token that you were given.</p>
        <label class="field">
          Token
          <input
            name="token"
            type="password"
            autoComplete="current-password"
            spellcheck={false}
            required
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
        {problem === null ? null : (
          <p class="note bad" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary" disabled={busy || token.trim() === ""}>
          Sign in
        </button>
      </form>
    </main>
  );
}
