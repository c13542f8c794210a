import helmet from "helmet";
import type { RequestHandler } from "express";

import { named } from "../named.ts";

const NOTHING = ["'none'"];

/** For answers that are data: a browser that is led to them must do nothing with them. Pages have policies of their own. */
export const dataHeaders = (): RequestHandler =>
  named(
    "dataHeaders",
    helmet({
      // `default-src` does not count for bases, forms and frames.
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: NOTHING,
          objectSrc: NOTHING,
          baseUri: NOTHING,
          formAction: NOTHING,
          frameAncestors: NOTHING,
        },
      },
      crossOriginResourcePolicy: { policy: "same-origin" },
      referrerPolicy: { policy: "no-referrer" },
      xFrameOptions: { action: "deny" },
    }),
  );
