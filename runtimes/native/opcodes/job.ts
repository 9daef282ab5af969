/** Code to compile in advance. */
import type { PhpProgram, PhpSettings } from "../environmentSandbox.ts";
import type { Mount } from "../sandbox.ts";

export interface OpcodeJob {
  readonly php: PhpProgram;
  /** Where the code is, and where PHP sees it. */
  readonly shared: readonly Mount[];
  /** PHP's settings, for all environments. */
  readonly settings: PhpSettings;
}
