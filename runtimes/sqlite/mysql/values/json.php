<?php
namespace WP_MySQL_Layer;

use stdClass;

/** JSON values as MySQL reads and writes them: objects are `stdClass`, so that `{}` and `[]` differ. */
final class Json {
	public const DEPTH = 512;

	/** Returns whether a text is JSON, and the value it stands for. */
	public static function read( string $text, &$value ): bool {
		$value = json_decode( $text, false, self::DEPTH, JSON_BIGINT_AS_STRING );
		return JSON_ERROR_NONE === json_last_error();
	}

	/** Writes a value as MySQL does: with a space after commas and colons, and without escapes. */
	public static function write( $value ): string {
		if ( is_array( $value ) ) {
			return '[' . implode( ', ', array_map( [ self::class, 'write' ], $value ) ) . ']';
		}
		if ( ! $value instanceof stdClass ) {
			return self::scalar( $value );
		}
		$pairs = [];
		foreach ( (array) $value as $key => $each ) {
			$pairs[] = self::scalar( (string) $key ) . ': ' . self::write( $each );
		}
		return '{' . implode( ', ', $pairs ) . '}';
	}

	public static function type( $value ): string {
		switch ( gettype( $value ) ) {
			case 'array':
				return 'ARRAY';
			case 'object':
				return 'OBJECT';
			case 'boolean':
				return 'BOOLEAN';
			case 'integer':
				return 'INTEGER';
			case 'double':
				return 'DOUBLE';
			case 'NULL':
				return 'NULL';
			default:
				return 'STRING';
		}
	}

	public static function depth( $value ): int {
		$children = is_array( $value ) ? $value : ( $value instanceof stdClass ? (array) $value : [] );
		return 1 + ( [] === $children ? 0 : max( array_map( [ self::class, 'depth' ], $children ) ) );
	}

	public static function length( $value ): int {
		return is_array( $value ) ? count( $value ) : ( $value instanceof stdClass ? count( (array) $value ) : 1 );
	}

	public static function equal( $a, $b ): bool {
		if ( is_array( $a ) || is_array( $b ) ) {
			return is_array( $a ) && is_array( $b ) && count( $a ) === count( $b ) && ! in_array( false, array_map( [ self::class, 'equal' ], $a, $b ), true );
		}
		if ( $a instanceof stdClass || $b instanceof stdClass ) {
			return $a instanceof stdClass && $b instanceof stdClass && self::length( $a ) === self::length( $b ) && self::contains( $a, $b );
		}
		return is_numeric( $a ) && is_numeric( $b ) && ! is_string( $a ) && ! is_string( $b ) ? (float) $a === (float) $b : $a === $b;
	}

	/** Whether each part of the candidate is in the target, as JSON_CONTAINS means it. */
	public static function contains( $target, $candidate ): bool {
		if ( is_array( $target ) ) {
			[ $scalars, $others ] = self::parts( $target );
			foreach ( is_array( $candidate ) ? $candidate : [ $candidate ] as $wanted ) {
				$is_there = isset( $scalars[ self::key( $wanted ) ?? '' ] );
				if ( ! $is_there && ! self::any( $others, static fn ( $each ) => self::contains( $each, $wanted ) ) ) {
					return false;
				}
			}
			return true;
		}
		if ( ! $target instanceof stdClass ) {
			return ! is_array( $candidate ) && self::equal( $target, $candidate );
		}
		if ( ! $candidate instanceof stdClass ) {
			return false;
		}
		foreach ( (array) $candidate as $key => $wanted ) {
			if ( ! property_exists( $target, (string) $key ) || ! self::contains( $target->{$key}, $wanted ) ) {
				return false;
			}
		}
		return true;
	}

	/** Whether they have an element, or a key with its value, in common. */
	public static function overlap( $a, $b ): bool {
		if ( $a instanceof stdClass && $b instanceof stdClass ) {
			return self::any( array_keys( (array) $a ), static fn ( $key ) => property_exists( $b, (string) $key ) && self::equal( $a->{$key}, $b->{$key} ) );
		}
		[ $scalars, $others ] = self::parts( is_array( $b ) ? $b : [ $b ] );
		$is_shared            = static function ( $each ) use ( $scalars, $others ) {
			$key = self::key( $each );
			return null === $key ? self::any( $others, static fn ( $other ) => self::equal( $each, $other ) ) : isset( $scalars[ $key ] );
		};
		return self::any( is_array( $a ) ? $a : [ $a ], $is_shared );
	}

	/** Divides values into scalars, as keys of a list, and others: looking for each of many values in all of a list would take very long. */
	private static function parts( array $values ): array {
		$scalars = [];
		$others  = [];
		foreach ( $values as $value ) {
			$key = self::key( $value );
			if ( null === $key ) {
				$others[] = $value;
			} else {
				$scalars[ $key ] = true;
			}
		}
		return [ $scalars, $others ];
	}

	/** A text that is the same for equal scalars, and for no others; null for lists and objects. */
	private static function key( $value ): ?string {
		if ( is_int( $value ) || is_float( $value ) ) {
			// 0 and -0 are equal.
			return 'number ' . pack( 'E', 0.0 === (float) $value ? 0.0 : $value );
		}
		return is_scalar( $value ) || null === $value ? gettype( $value ) . ' ' . $value : null;
	}

	/** RFC 7396: the second value's keys replace the first's, and null removes. */
	public static function patch( $target, $patch ) {
		if ( ! $patch instanceof stdClass ) {
			return $patch;
		}
		$result = $target instanceof stdClass ? clone $target : new stdClass();
		foreach ( (array) $patch as $key => $value ) {
			if ( null === $value ) {
				unset( $result->{$key} );
			} else {
				$result->{$key} = self::patch( $result->{$key} ?? null, $value );
			}
		}
		return $result;
	}

	/** Joins lists, and the values of keys that both have. */
	public static function merge( $a, $b ) {
		if ( ! $a instanceof stdClass || ! $b instanceof stdClass ) {
			return array_merge( is_array( $a ) ? $a : [ $a ], is_array( $b ) ? $b : [ $b ] );
		}
		$result = clone $a;
		foreach ( (array) $b as $key => $value ) {
			$result->{$key} = property_exists( $result, (string) $key ) ? self::merge( $result->{$key}, $value ) : $value;
		}
		return $result;
	}

	private static function any( array $values, callable $test ): bool {
		foreach ( $values as $value ) {
			if ( $test( $value ) ) {
				return true;
			}
		}
		return false;
	}

	private static function scalar( $value ): string {
		$text = json_encode( $value, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION | JSON_UNESCAPED_LINE_TERMINATORS );
		return false === $text ? 'null' : $text;
	}
}
