export { type HandlerFault, type Handlers, type HandlersPorts, openHandlers, type OpenedHandlers } from "./handlers.ts";
export { paths as handlerPaths, splitVersion, typeProblem } from "./paths.ts";
