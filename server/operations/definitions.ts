/** Every kind of operation there is. A kind without a definition does not compile. */
import type { OperationKind } from "@sitewright/contract/operations.ts";
import { createSite } from "./createSite.ts";
import { deleteSite } from "./deleteSite.ts";
import type { AnyDefinition } from "./operation.ts";
import type { Services } from "./services.ts";

export type OperationDefinitions = Readonly<Record<OperationKind, AnyDefinition>>;

export function operationDefinitions(services: Services): OperationDefinitions {
  return {
    addSite: createSite(services),
    deleteSite: deleteSite(services),
  };
}
