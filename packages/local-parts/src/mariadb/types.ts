export interface RunningMariaDb {
  /** mysql://user:password@127.0.0.1:port/database; the user may do everything in it, and look at what others wait for. */
  readonly url: string;
  readonly port: number;
  readonly source: "process" | "docker";
  kill(signal: NodeJS.Signals): Promise<void>;
  /** After a kill: the same data, the same port. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}
