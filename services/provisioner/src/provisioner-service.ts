/** The service as its duties, from its settings. */
import { type ServiceOptions, stampedFolder } from "@sluice/stage-runtime";
import { openWorkingFolder } from "@sluice/working-folder";
import type { ProvisionerConfig } from "./config.ts";
import { sharedVolumeOnly } from "./dedicated-volumes.ts";
import { storageGauges } from "./gauges.ts";
import { provisioningStage } from "./provision.ts";
import { volumeSurvey } from "./volume.ts";

export async function provisionerService(config: ProvisionerConfig): Promise<ServiceOptions> {
  const folder = await openWorkingFolder(config.WORKING_DIR);
  const survey = volumeSurvey(folder.root);

  return {
    service: "provisioner",
    config,
    duties: ({ registry }) => [
      provisioningStage({
        survey,
        limits: { known: config.SPACE_LIMIT, unknown: config.SPACE_LIMIT_UNKNOWN },
        dedicated: sharedVolumeOnly,
        onRound: storageGauges(registry, survey),
      }),
    ],
    stamped: () => [stampedFolder({ name: "the working folder", folder: config.WORKING_DIR, writes: false })],
  };
}
