import { Avatar, Badge, Group, Stack, Text } from "@mantine/core";
import type { Person } from "../../api/people.ts";
import { may, useSignedIn } from "../../api/session.ts";
import { dateText } from "../../formats.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { texts } from "../../texts.ts";

const at = texts.people;

interface PersonRowProps {
  readonly person: Person;
  readonly change: () => void;
  readonly remove: () => void;
  readonly reset: () => void;
}

/** A person of the company, with what they may do. */
export function PersonRow({ person, change, remove, reset }: PersonRowProps) {
  const { user, locked_because: reason, last_signed_in_at: signedIn } = person;
  const session = useSignedIn();
  const isMe = session?.user.id === user.id;
  const facts = [
    accessText(person),
    person.has_second_factor ? at.hasFactor : at.hasNoFactor,
    signedIn === null ? at.neverSignedIn : at.signedIn(dateText(signedIn)),
  ];
  return (
    <Group component="li" justify="space-between" gap="sm" p="md">
      <Group gap="md" wrap="nowrap" miw={0} style={{ flex: "1 1 260px" }}>
        <Avatar src={user.image} alt="" radius="xl" />
        <Stack gap={2} miw={0}>
          <Group gap="xs">
            <Text fw={600} style={{ overflowWrap: "anywhere" }}>
              {user.full_name}
            </Text>
            <Badge variant="light">{at.roles[user.role]}</Badge>
            {isMe && <Badge variant="default">{at.you}</Badge>}
          </Group>
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {user.email}
          </Text>
          <Text size="sm" c="dimmed">
            {facts.join(" · ")}
          </Text>
        </Stack>
      </Group>
      <Group gap="xs">
        {person.has_second_factor && !isMe && (
          <ActionButton
            size="compact-sm"
            variant="default"
            reason={may(session, "manage_sign_in") ? null : at.needsOwner}
            onClick={reset}
            aria-label={at.resetNamed(user.full_name)}
          >
            {at.reset}
          </ActionButton>
        )}
        <ActionButton
          size="compact-sm"
          variant="default"
          reason={reason}
          onClick={change}
          aria-label={at.changeNamed(user.full_name)}
        >
          {at.change}
        </ActionButton>
        <ActionButton
          size="compact-sm"
          variant="default"
          reason={reason}
          onClick={remove}
          aria-label={at.removeNamed(user.full_name)}
        >
          {at.remove}
        </ActionButton>
      </Group>
    </Group>
  );
}

const maxNames = 3;

function accessText({ sites, labels }: Person): string {
  if (labels.length === 0) return sitesText(sites);
  const ofLabels = texts.labels.withLabels(labels.map(({ name }) => name).join(", "));
  return sites === null || sites.length === 0 ? at.onlySites(ofLabels) : `${sitesText(sites)}, ${ofLabels}`;
}

function sitesText(sites: Person["sites"]): string {
  if (sites === null) return at.allSites;
  if (sites.length === 0) return at.noSites;
  const names = sites.slice(0, maxNames).map(({ display_name: name }) => name);
  const others = sites.length - names.length;
  return at.onlySites([...names, ...(others > 0 ? [at.moreSites(others)] : [])].join(", "));
}
