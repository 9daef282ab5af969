import { useNavigate } from "@tanstack/react-router";
import type { Schemas } from "../api/client.ts";
import { useStart } from "../api/operations.ts";

/** A call that starts an operation, and continues on the operation's page. */
export function useStartAndFollow(call: () => Promise<Schemas["Accepted"]>) {
  const navigate = useNavigate();
  const { isPending, error, mutate } = useStart(call);
  const follow = ({ operation_id: operationId }: Schemas["Accepted"]) =>
    void navigate({ to: "/operations/$operationId", params: { operationId } });
  return { isPending, error, mutate: () => mutate(undefined, { onSuccess: follow }) };
}
