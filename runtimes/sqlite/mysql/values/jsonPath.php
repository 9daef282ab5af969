<?php
namespace WP_MySQL_Layer;

use stdClass;

/** A path such as `$.list[0].name`, with MySQL's wildcards `*`, `[*]` and `**`. */
final class Json_Path {
	private const LEG = '/\G\s*(?:\.\s*(?<key>\*|[\p{L}_$][\p{L}\p{N}_$]*|"(?:[^"\\\\]|\\\\.)*")|\[\s*(?<index>\*|\d+|last(?:\s*-\s*\d+)?)\s*\]|(?<any>(?:\*\*)++))/u';

	/** @var array<array{0: string, 1: string|int}> Kind of leg, and its key or index; negative indexes count from the end. */
	private array $legs = [];

	/** No document has so many levels. A longer path would take a long time to read. */
	private const MOST_LEGS = Json::DEPTH;

	/** Returns null if the text is no path. */
	public static function parse( string $text ): ?self {
		$text = trim( $text );
		if ( '$' !== ( $text[0] ?? '' ) ) {
			return null;
		}
		$path = new self();
		for ( $at = 1, $length = strlen( $text ); $at < $length; $at += strlen( $found[0] ) ) {
			if ( 1 !== preg_match( self::LEG, $text, $found, PREG_UNMATCHED_AS_NULL, $at ) || count( $path->legs ) >= self::MOST_LEGS ) {
				return null;
			}
			$path->legs[] = self::leg( $found );
		}
		return [] !== $path->legs && 'any' === end( $path->legs )[0] ? null : $path;
	}

	private static function leg( array $found ): array {
		if ( null !== $found['any'] ) {
			return [ 'any', '' ];
		}
		if ( null !== $found['key'] ) {
			$key = $found['key'];
			return '*' === $key ? [ 'keys', '' ] : [ 'key', '"' === $key[0] ? (string) json_decode( $key ) : $key ];
		}
		$index = preg_replace( '/\s+/', '', $found['index'] );
		if ( '*' === $index ) {
			return [ 'indexes', '' ];
		}
		return [ 'index', str_starts_with( $index, 'last' ) ? (int) substr( $index, 4 ) - 1 : (int) $index ];
	}

	public function has_wildcards(): bool {
		return [] !== array_intersect( [ 'any', 'keys', 'indexes' ], array_column( $this->legs, 0 ) );
	}

	public function is_root(): bool {
		return [] === $this->legs;
	}

	/** @return array All values at this path. */
	public function find( $document ): array {
		$values = [ $document ];
		foreach ( $this->legs as [ $kind, $key ] ) {
			$next = [];
			foreach ( $values as $value ) {
				array_push( $next, ...self::step( $value, $kind, $key ) );
			}
			$values = $next;
		}
		return $values;
	}

	/**
	 * Returns the document with a change at this path, which must not have wildcards.
	 *
	 * @param callable(bool $exists, mixed $value): array $change Returns nothing to remove the value, else the new one in a list.
	 */
	public function change( $document, callable $change ) {
		return self::changed( $document, $this->legs, $change );
	}

	private static function step( $value, string $kind, $key ): array {
		switch ( $kind ) {
			case 'key':
				return $value instanceof stdClass && property_exists( $value, $key ) ? [ $value->{$key} ] : [];
			case 'keys':
				return $value instanceof stdClass ? array_values( (array) $value ) : [];
			case 'indexes':
				return is_array( $value ) ? $value : [];
			case 'index':
				$list = is_array( $value ) ? $value : [ $value ];
				$at   = $key < 0 ? count( $list ) + $key : $key;
				return array_key_exists( $at, $list ) ? [ $list[ $at ] ] : [];
			default:
				$children = is_array( $value ) ? $value : ( $value instanceof stdClass ? array_values( (array) $value ) : [] );
				return array_merge( [ $value ], ...array_map( static fn ( $child ) => self::step( $child, 'any', '' ), $children ) );
		}
	}

	private static function changed( $value, array $legs, callable $change ) {
		[ $kind, $key ] = array_shift( $legs );
		if ( 'key' === $kind ) {
			return $value instanceof stdClass ? self::changed_key( $value, $key, $legs, $change ) : $value;
		}
		$list = is_array( $value ) ? $value : [ $value ];
		$at   = $key < 0 ? count( $list ) + $key : $key;
		if ( [] !== $legs ) {
			if ( array_key_exists( $at, $list ) ) {
				$list[ $at ] = self::changed( $list[ $at ], $legs, $change );
			}
			return is_array( $value ) ? $list : ( 0 === $at ? $list[0] : $value );
		}
		$exists = array_key_exists( $at, $list );
		$new    = $change( $exists, $exists ? $list[ $at ] : null );
		if ( ! is_array( $value ) && $exists ) {
			return [] === $new ? $value : $new[0];
		}
		if ( ! $exists && [] === $new ) {
			return $value;
		}
		array_splice( $list, max( 0, $at ), $exists ? 1 : 0, $new );
		return $list;
	}

	private static function changed_key( stdClass $value, string $key, array $legs, callable $change ): stdClass {
		$exists = property_exists( $value, $key );
		$copy   = clone $value;
		if ( [] !== $legs ) {
			if ( $exists ) {
				$copy->{$key} = self::changed( $value->{$key}, $legs, $change );
			}
			return $copy;
		}
		$new = $change( $exists, $exists ? $value->{$key} : null );
		if ( [] === $new ) {
			unset( $copy->{$key} );
		} else {
			$copy->{$key} = $new[0];
		}
		return $copy;
	}
}
