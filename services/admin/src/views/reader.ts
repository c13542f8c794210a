/** For whom a remedy is worded: depositors can submit again, everybody else here asks what the operators can do. */
import type { Caller } from "@sluice/access";
import type { Reader } from "@sluice/queue-core";

export const readerOf = ({ role }: Pick<Caller, "role">): Reader => (role === "depositor" ? "depositor" : "operator");
