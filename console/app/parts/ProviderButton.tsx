/** Opens the provider's page, if the installation has a provider. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { signInOptionsQuery } from "../api/passkeys.ts";
import { openProvider, type Purpose } from "../api/providers.ts";
import { ActionButton } from "./ActionButton.tsx";
import { Failure } from "./Failure.tsx";

interface ProviderButtonProps {
  readonly purpose: Purpose;
  /** The page to return to. */
  readonly next: string;
  /** The text of the button for a provider of this name. */
  readonly label: (name: string) => string;
}

export function ProviderButton({ purpose, next, label }: ProviderButtonProps) {
  const provider = useQuery(signInOptionsQuery).data?.provider ?? null;
  const open = useMutation({ mutationFn: () => openProvider(purpose, next) });
  if (provider === null) return null;
  return (
    <>
      <Failure error={open.error} />
      <ActionButton
        variant="default"
        reason={provider.unavailable_because}
        loading={open.isPending || open.isSuccess}
        onClick={() => open.mutate()}
      >
        {label(provider.name)}
      </ActionButton>
    </>
  );
}
