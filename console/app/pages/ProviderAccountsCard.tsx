import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../api/client.ts";
import { signInOptionsQuery } from "../api/passkeys.ts";
import { providerAccountsQuery } from "../api/providers.ts";
import { dateText } from "../formats.ts";
import { Card } from "../parts/Card.tsx";
import { Loaded } from "../parts/Failure.tsx";
import { PasswordDialog } from "../parts/PasswordDialog.tsx";
import { ProviderButton } from "../parts/ProviderButton.tsx";
import { texts } from "../texts.ts";

const at = texts.provider;

/** Nothing if the installation has no provider, and the person no account from earlier. */
export function ProviderAccountsCard() {
  const provider = useQuery(signInOptionsQuery).data?.provider ?? null;
  const accounts = useQuery(providerAccountsQuery);
  const hasNone = accounts.error === null && (accounts.data ?? []).length === 0;
  if (provider === null && hasNone) return null;
  return (
    <Card title={at.title} maxWidth={720}>
      {provider !== null && <Text>{at.explain(provider.name)}</Text>}
      <Loaded query={accounts}>{(found) => <Accounts accounts={found} provider={provider?.name ?? null} />}</Loaded>
    </Card>
  );
}

interface AccountsProps {
  readonly accounts: readonly Schemas["ProviderAccount"][];
  /** Null: the installation has none at present. */
  readonly provider: string | null;
}

function Accounts({ accounts, provider }: AccountsProps) {
  return (
    <>
      {accounts.length > 0 && (
        <Stack role="list" aria-label={at.title}>
          {accounts.map((account) => (
            <Row key={account.id} account={account} />
          ))}
        </Stack>
      )}
      {provider !== null && !accounts.some((account) => account.provider === provider) && (
        <Group>
          <ProviderButton purpose="link" next="/account" label={at.link} />
        </Group>
      )}
    </>
  );
}

function Row({ account }: { readonly account: Schemas["ProviderAccount"] }) {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { id, provider, email, created_at: linked, last_used_at: used } = account;
  return (
    <Group role="listitem" justify="space-between" gap="sm">
      <Stack gap={0}>
        <Text>{`${provider}: ${email}`}</Text>
        <Text size="sm" c="dimmed">
          {at.facts(dateText(linked), used && dateText(used))}
        </Text>
      </Stack>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)} aria-label={at.unlinkNamed(provider)}>
        {at.unlink}
      </Button>
      {isOpen && (
        <PasswordDialog
          title={at.unlinkNamed(provider)}
          hint={at.unlinkHint}
          close={() => setOpen(false)}
          send={(body) => {
            const params = { path: { account_id: id } };
            return answerOf(api.DELETE("/session/provider-accounts/{account_id}", { params, body }));
          }}
          done={() => {
            setOpen(false);
            void client.invalidateQueries({ queryKey: providerAccountsQuery.queryKey });
          }}
        />
      )}
    </Group>
  );
}
