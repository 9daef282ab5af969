/** The content of environments through every crash. A new operation is one line in `describeCrashes`. */
import { comparing, pushing } from "../../testing/environments.ts";
import { updatingPlugin } from "../../testing/packageUpdates.ts";
import { previewingReplacement, replacingTexts } from "../../testing/replacements.ts";
import { updatingWordPress } from "../../testing/wordpressUpdates.ts";
import { runningWpCli } from "../../testing/wpCli.ts";
import { describeCrashes } from "./testing/describeCrashes.ts";

describeCrashes(
  {
    "pushing everything": pushing("all", "all"),
    "comparing before a push": comparing,
    "replacing a text": replacingTexts,
    "counting what would be replaced": previewingReplacement,
    "running a command of WP-CLI": runningWpCli,
    "updating a plugin": updatingPlugin,
    "updating WordPress": updatingWordPress,
  },
  {
    "pushing some files": pushing(["index.php"], "all"),
  },
);
