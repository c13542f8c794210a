/** The operators' API. */
import { DEPOSIT_ENDPOINTS } from "./admin-deposits.ts";
import { FLEET_ENDPOINTS } from "./admin-fleet.ts";
import { HOUSE_ENDPOINTS } from "./admin-house.ts";
import { JOB_ACTION_ENDPOINTS } from "./admin-job-actions.ts";

export const ADMIN = { ...FLEET_ENDPOINTS, ...DEPOSIT_ENDPOINTS, ...JOB_ACTION_ENDPOINTS, ...HOUSE_ENDPOINTS } as const;
