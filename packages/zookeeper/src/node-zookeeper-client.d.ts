/** The client has no types of its own; adapter.ts says which of its internals it relies on. */
declare module "node-zookeeper-client" {
  const client: unknown;
  export default client;
}
