import { Badge, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { type Invitation, invitationsQuery, type Person, peopleKey } from "../../api/people.ts";
import { dateText } from "../../formats.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";

const at = texts.people;

interface InvitationsProps {
  readonly company: string;
  readonly people: readonly Person[];
}

/** Invitations that have been neither accepted nor withdrawn. */
export function Invitations({ company, people }: InvitationsProps) {
  const invitations = useQuery(invitationsQuery(company));
  return (
    <Stack component="section" aria-label={at.invitations}>
      <Title order={2} size="h4">
        {at.invitations}
      </Title>
      <Loaded query={invitations}>
        {(found) =>
          found.length === 0 ? (
            <Text>{at.noInvitations}</Text>
          ) : (
            <Paper withBorder component="ul" className="list">
              {found.map((invitation) => (
                <InvitationRow key={invitation.id} company={company} invitation={invitation} people={people} />
              ))}
            </Paper>
          )
        }
      </Loaded>
    </Stack>
  );
}

function InvitationRow({ company, invitation, people }: InvitationsProps & { readonly invitation: Invitation }) {
  const client = useQueryClient();
  const withdraw = useMutation({
    mutationFn: () => {
      const params = { path: { id: company, invitation_id: invitation.id } };
      return answerOf(api.DELETE("/company/{id}/invitations/{invitation_id}", { params }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: peopleKey }),
  });
  const { email, role, site_ids: siteIds, label_ids: labelIds } = invitation;
  const inviter = people.find(({ user }) => user.id === invitation.invited_by)?.user.full_name;
  const expires = dateText(invitation.expires_at);
  return (
    <Stack component="li" gap="xs" p="md">
      <Group justify="space-between" gap="sm">
        <Stack gap={2} miw={0}>
          <Group gap="xs">
            <Text fw={600} style={{ overflowWrap: "anywhere" }}>
              {email}
            </Text>
            <Badge variant="light">{at.roles[role]}</Badge>
          </Group>
          <Text size="sm" c="dimmed">
            {[
              siteIds === null ? at.allSites : someText(siteIds.length, labelIds?.length ?? 0),
              ...(inviter === undefined ? [] : [at.invitedBy(inviter)]),
              Date.parse(invitation.expires_at) > Date.now() ? at.expires(expires) : at.expired(expires),
            ].join(" · ")}
          </Text>
        </Stack>
        <ActionButton
          size="compact-sm"
          variant="default"
          loading={withdraw.isPending}
          onClick={() => withdraw.mutate()}
          aria-label={at.withdrawNamed(email)}
        >
          {at.withdraw}
        </ActionButton>
      </Group>
      <Failure error={withdraw.error} />
    </Stack>
  );
}

function someText(sites: number, labels: number): string {
  const ofLabels = texts.labels.someLabels(labels);
  if (labels === 0) return at.someSites(sites);
  return sites === 0 ? ofLabels : `${at.someSites(sites)}, ${ofLabels}`;
}
