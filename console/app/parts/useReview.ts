import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { followedOperation } from "../api/operations.ts";

/**
 * A change that must be reviewed first: `isReviewed` is true once the operation that previews exactly this change has succeeded.
 * `choice`: the change as text. `began` takes the change that is shown, which may no longer be the chosen one.
 */
export function useReview(choice: string) {
  const [reviewed, setReviewed] = useState({ choice: "", operationId: "" });
  const review = useQuery({ ...followedOperation(reviewed.operationId), enabled: reviewed.operationId !== "" });
  return {
    isReviewed: reviewed.choice === choice && review.data?.state === "succeeded",
    began: (shown: string, operationId: string) => setReviewed({ choice: shown, operationId }),
  };
}
