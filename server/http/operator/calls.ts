import * as installation from "@sitewright/server/app/operator/installation.ts";
import type { SomeCalls } from "../handling.ts";

export const operatorCalls = {
  getInstallation: (context) => installation.get(context),
} satisfies SomeCalls;
