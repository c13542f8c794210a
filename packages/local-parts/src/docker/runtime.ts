/** testcontainers with its connection to an engine, or why there is none. */
import { messageOf } from "../log.ts";

export type Testcontainers = typeof import("testcontainers");
type Client = Awaited<ReturnType<Testcontainers["getContainerRuntimeClient"]>>;

export interface Runtime {
  readonly testcontainers: Testcontainers;
  readonly client: Client;
}

export async function runtimeClient(): Promise<Runtime | { readonly skip: string }> {
  // Loaded only here: it is large, and most machines get by without it.
  const testcontainers = await import("testcontainers");
  try {
    return { testcontainers, client: await testcontainers.getContainerRuntimeClient() };
  } catch (error) {
    return { skip: `no daemon answers: ${messageOf(error)}` };
  }
}
