import { installPart } from "../debian/install.ts";
import { startDebian } from "./installed.ts";
import { failed, type Way } from "./types.ts";

export const fromApt: Way = {
  name: "Debian's package by apt-get",
  async attempt(request, signal) {
    const installed = await installPart("zookeeper", request.log, signal);
    return installed.ok ? startDebian("apt", request, signal) : failed(installed.reason);
  },
};
