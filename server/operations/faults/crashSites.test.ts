/** Crash tests for sites and environments. A new operation is one line in `describeCrashes`. */
import {
  addingEnvironment,
  addingPlainEnvironment,
  changingLimits,
  changingRuntime,
  cloningEnvironment,
  deletingEnvironment,
  modifyingPhpVersion,
  restartingPhp,
} from "../../testing/environments.ts";
import { resettingSite } from "../../testing/resets.ts";
import { creatingPlainSite, creatingSite, deletingSite } from "../../testing/sites.ts";
import { describeCrashes } from "./testing/describeCrashes.ts";

describeCrashes(
  {
    "creating a site": creatingSite,
    "deleting a site": deletingSite,
    "resetting a site": resettingSite,
    "cloning an environment": cloningEnvironment,
    "deleting an environment": deletingEnvironment,
    "changing the PHP version": modifyingPhpVersion,
    "moving to another runtime": changingRuntime("other"),
    "restarting PHP": restartingPhp,
    "changing an environment's PHP allocation": changingLimits("changeEnvironmentPhpAllocation"),
  },
  {
    "creating a plain site": creatingPlainSite,
    "adding an environment": addingEnvironment,
    "adding a plain environment": addingPlainEnvironment,
    "changing a site's PHP allocation": changingLimits("changeSitePhpAllocation"),
  },
);
