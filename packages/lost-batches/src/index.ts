export {
  canBeForgotten,
  canBeMade,
  type Evidence,
  judge,
  type Judgement,
  type Reached,
  type TreeSays,
  type Verdict,
} from "./judge.ts";
export { type LostInventory, type OpenedInventory, openLostInventory } from "./inventory-part.ts";
export { type Looked, lookForLost, type LookPorts, type LostBatch } from "./look.ts";
export { type Forgetting, type MadeAgain, makeAgain, openForgetting } from "./make-again.ts";
