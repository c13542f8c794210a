import helmet from "helmet";
import type { RequestHandler } from "express";

/** For answers that are data: a browser that is led to them must do nothing with them. Pages have policies of their own. */
export const dataHeaders = (): RequestHandler =>
  helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    crossOriginResourcePolicy: { policy: "same-origin" },
    referrerPolicy: { policy: "no-referrer" },
    xFrameOptions: { action: "deny" },
  });
