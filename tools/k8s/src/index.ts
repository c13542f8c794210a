export { decide, NEW_SCALER, type Observation, type ScalerState } from "./autoscaler/decide.ts";
export { hastened, type ScalingRule, scalingRules, type Trigger } from "./autoscaler/rule.ts";
export { environmentOf, podOf, servicesOf } from "./object.ts";
export { findKustomize, render } from "./render.ts";
