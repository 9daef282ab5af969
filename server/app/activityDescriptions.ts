/** Sentences of the activity log, in every language that it can be read in. */
import type { ActivityType, Language } from "@sitewright/contract/activity.ts";

/** They name the action and not its outcome: an entry is written when the action begins, and it may fail. */
const sentences: Record<ActivityType, Record<Language, string>> = {
  addSite: {
    da: "Tilføj sitet “{siteName}”",
    de: "Website „{siteName}“ hinzufügen",
    en: "Add the site “{siteName}”",
    es: "Añadir el sitio «{siteName}»",
    fr: "Ajouter le site « {siteName} »",
    it: "Aggiungere il sito «{siteName}»",
    ja: "サイト「{siteName}」の追加",
    nl: "Site ‘{siteName}’ toevoegen",
    pt: "Adicionar o site “{siteName}”",
    sv: "Lägg till webbplatsen ”{siteName}”",
  },
  deleteSite: {
    da: "Slet sitet “{siteName}”",
    de: "Website „{siteName}“ löschen",
    en: "Delete the site “{siteName}”",
    es: "Eliminar el sitio «{siteName}»",
    fr: "Supprimer le site « {siteName} »",
    it: "Eliminare il sito «{siteName}»",
    ja: "サイト「{siteName}」の削除",
    nl: "Site ‘{siteName}’ verwijderen",
    pt: "Excluir o site “{siteName}”",
    sv: "Ta bort webbplatsen ”{siteName}”",
  },
  createApiKey: {
    da: "Opret API-nøglen “{keyName}”",
    de: "API-Schlüssel „{keyName}“ erstellen",
    en: "Create the API key “{keyName}”",
    es: "Crear la clave de API «{keyName}»",
    fr: "Créer la clé d’API « {keyName} »",
    it: "Creare la chiave API «{keyName}»",
    ja: "APIキー「{keyName}」の作成",
    nl: "API-sleutel ‘{keyName}’ aanmaken",
    pt: "Criar a chave de API “{keyName}”",
    sv: "Skapa API-nyckeln ”{keyName}”",
  },
  revokeApiKey: {
    da: "Tilbagekald API-nøglen “{keyName}”",
    de: "API-Schlüssel „{keyName}“ widerrufen",
    en: "Revoke the API key “{keyName}”",
    es: "Revocar la clave de API «{keyName}»",
    fr: "Révoquer la clé d’API « {keyName} »",
    it: "Revocare la chiave API «{keyName}»",
    ja: "APIキー「{keyName}」の失効",
    nl: "API-sleutel ‘{keyName}’ intrekken",
    pt: "Revogar a chave de API “{keyName}”",
    sv: "Återkalla API-nyckeln ”{keyName}”",
  },
};

function isKnown(type: string): type is ActivityType {
  return Object.hasOwn(sentences, type);
}

/** Null for a kind of entry that is no longer known. */
export function describeActivity(
  type: string,
  parameters: Readonly<Record<string, string>>,
  language: Language,
): string[] | null {
  if (!isKnown(type)) return null;
  return [sentences[type][language].replace(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? "…")];
}
