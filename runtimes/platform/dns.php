<?php
/**
 * PHP's functions that read DNS records, of which this PHP has only empty ones. Forms check with them whether the domain of an
 * e-mail address can receive mail. The host looks the records up.
 */

const SITEWRIGHT_DNS_TYPES = array(
	'A'     => DNS_A,
	'NS'    => DNS_NS,
	'CNAME' => DNS_CNAME,
	'SOA'   => DNS_SOA,
	'PTR'   => DNS_PTR,
	'CAA'   => DNS_CAA,
	'MX'    => DNS_MX,
	'TXT'   => DNS_TXT,
	'SRV'   => DNS_SRV,
	'NAPTR' => DNS_NAPTR,
	'AAAA'  => DNS_AAAA,
);

/** Returns null if the lookup failed, which differs from finding nothing. */
function sitewright_dns( string $hostname, array $types ): ?array {
	$question = array( 'sitewright' => 'dns', 'name' => $hostname, 'types' => $types );
	return json_decode( sitewright_tell( $question ), true );
}

function dns_get_record( string $hostname, int $type = DNS_ANY, &$authoritative_name_servers = null, &$additional_records = null, bool $raw = false ): array|false {
	$authoritative_name_servers = $additional_records = array();
	$wanted = DNS_ANY === $type ? DNS_ALL : $type;
	if ( $wanted < 0 || $wanted > DNS_ALL ) {
		throw new ValueError( 'dns_get_record(): Argument #2 ($type) must be a DNS_* constant' );
	}
	$types   = array_keys( array_filter( SITEWRIGHT_DNS_TYPES, static fn ( int $bit ) => ( $wanted & $bit ) !== 0 ) );
	$records = $raw ? array() : sitewright_dns( $hostname, $types );
	if ( null === $records ) {
		trigger_error( 'dns_get_record(): A temporary server error occurred.', E_USER_WARNING );
	}
	return $records ?? false;
}

function checkdnsrr( string $hostname, string $type = 'MX' ): bool {
	if ( '' === $hostname ) {
		throw new ValueError( 'checkdnsrr(): Argument #1 ($hostname) cannot be empty' );
	}
	$type = strtoupper( $type );
	if ( 'ANY' !== $type && ! isset( SITEWRIGHT_DNS_TYPES[ $type ] ) ) {
		throw new ValueError( 'checkdnsrr(): Argument #2 ($type) must be a valid DNS record type' );
	}
	return ! empty( sitewright_dns( $hostname, 'ANY' === $type ? array_keys( SITEWRIGHT_DNS_TYPES ) : array( $type ) ) );
}

function dns_check_record( string $hostname, string $type = 'MX' ): bool {
	return checkdnsrr( $hostname, $type );
}

function getmxrr( string $hostname, &$hosts, &$weights = null ): bool {
	$records = sitewright_dns( $hostname, array( 'MX' ) ) ?? array();
	$hosts   = array_column( $records, 'target' );
	$weights = array_column( $records, 'pri' );
	return array() !== $records;
}

function dns_get_mx( string $hostname, &$hosts, &$weights = null ): bool {
	return getmxrr( $hostname, $hosts, $weights );
}
