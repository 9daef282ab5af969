import { OperationOutcome } from "../../parts/OperationOutcome.tsx";
import { OperationPictures } from "../../parts/OperationPictures.tsx";

/** Follows an update, and shows the screenshots that it has compared. */
export function UpdateOutcome({ operationId }: { readonly operationId: string }) {
  return (
    <OperationOutcome key={operationId} operationId={operationId}>
      {() => <OperationPictures operationId={operationId} />}
    </OperationOutcome>
  );
}
