export { carryContext } from "./carry-context.ts";
export type { Recorder, RecorderOptions } from "./record.ts";
export { startRecorder } from "./start-recorder.ts";
export {
  activeSpan,
  type ActiveSpan,
  currentTrace,
  currentTraceparent,
  type SpanRequest,
  type StartedSpan,
  startSpan,
  traced,
  traceFields,
  within,
} from "./spans.ts";
export { attemptContext, jobTraceparent, newTraceparent, parseTraceparent, printTraceparent } from "./traceparent.ts";
