/** Everything the command touches besides HTTP and ZooKeeper: tests bring their own. */
export interface Sink {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Of the terminal, asked anew each time: windows change. */
  size(): { readonly columns: number; readonly rows: number };
}

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly user: string;
  /** Data. */
  readonly stdout: Sink;
  /** Notes, progress, questions. */
  readonly stderr: Sink;
  readonly nowMs: () => number;
  /** Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** null: nobody is there to be asked. */
  readonly ask: ((question: string) => Promise<string>) | null;
  readonly readStdin: () => Promise<string>;
  /** Calls back with each key until the returned function is called; does nothing without a terminal. */
  readonly onKey: (listener: (key: string) => void) => () => void;
}
