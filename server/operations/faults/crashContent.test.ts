/** Crash tests for the content of environments. A new operation is one line in `describeCrashes`. */
import { comparing, pushing } from "../../testing/environments.ts";
import { updatingPlugin } from "../../testing/packageUpdates.ts";
import { previewingReplacement, replacingTexts } from "../../testing/replacements.ts";
import { updatingWordPress } from "../../testing/wordpressUpdates.ts";
import { runningWpCli } from "../../testing/wpCli.ts";
import { describeCrashes } from "./testing/describeCrashes.ts";

describeCrashes(
  {
    "pushing everything": pushing("all", "all"),
    "previewing a push": comparing,
    "searching and replacing": replacingTexts,
    "previewing a replacement": previewingReplacement,
    "running a WP-CLI command": runningWpCli,
    "updating a plugin": updatingPlugin,
    "updating WordPress": updatingWordPress,
  },
  {
    "pushing some files": pushing(["index.php"], "all"),
  },
);
