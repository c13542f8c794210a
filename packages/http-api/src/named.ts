/**
 * Gives a handler its name in an app's list of layers. The test of rights knows middleware by it: a layer that is neither named
 * there nor an endpoint in the table of rights fails it.
 */
export function named<H extends (...args: never[]) => unknown>(name: string, handler: H): H {
  return Object.defineProperty(handler, "name", { value: name });
}
