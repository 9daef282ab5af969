<?php
namespace WP_MySQL_Layer;

use ArgumentCountError;
use stdClass;

/**
 * MySQL's functions about JSON. What is no JSON, or no path, gives NULL, as in MariaDB; MySQL reports an error.
 * https://dev.mysql.com/doc/refman/8.0/en/json-functions.html
 */
final class Json_Functions extends Function_Set {
	public const WITH_NULL = [
		...[ 'json_array', 'json_object', 'json_search', 'json_set', 'json_insert', 'json_replace', 'json_array_append', 'json_array_insert' ],
	];
	/** PDO takes no integer beyond 32 bits from a function. */
	private const LARGE = 1 << 31;
	/** Before documents among arguments (see `Json_Parts`). */
	private const MARK = "\0json:";

	public function json_valid( $text ): ?int {
		return (int) ( is_string( $text ) && Json::read( $text, $value ) || is_int( $text ) || is_float( $text ) );
	}

	public function json_extract( $document, ...$paths ) {
		$paths = $this->paths( $paths );
		if ( null === $paths || ! $this->document( $document, $value ) ) {
			return null;
		}
		$found = array_merge( ...array_map( static fn ( $path ) => $path->find( $value ), $paths ) );
		if ( [] === $found ) {
			return null;
		}
		if ( count( $paths ) > 1 || $paths[0]->has_wildcards() ) {
			return Json::write( $found );
		}
		// Numbers stay numbers, so that they can be compared.
		return is_float( $found[0] ) || ( is_int( $found[0] ) && abs( $found[0] ) < self::LARGE ) ? $found[0] : Json::write( $found[0] );
	}

	/** Returns the value at a path. Strings lose their quotes. */
	public function mysql_json_scalar( $document, ...$paths ) {
		$found = $this->json_extract( $document, ...$paths );
		if ( ! is_string( $found ) ) {
			return $found;
		}
		return 1 === preg_match( '/^-?\d+$/D', $found ) ? (float) $found : $this->json_unquote( $found );
	}

	/** Returns the scalar at a path as a text. */
	public function json_value( $document, $path ): ?string {
		$found = $this->find( $document, $path );
		foreach ( $found ?? [] as $value ) {
			if ( is_scalar( $value ) ) {
				return is_bool( $value ) ? (string) (int) $value : (string) $value;
			}
		}
		return null;
	}

	/** Returns the object or list at a path. */
	public function json_query( $document, $path ): ?string {
		foreach ( $this->find( $document, $path ) ?? [] as $value ) {
			if ( is_array( $value ) || $value instanceof stdClass ) {
				return Json::write( $value );
			}
		}
		return null;
	}

	public function json_exists( $document, $path ): ?int {
		$found = $this->find( $document, $path );
		return null === $found ? null : (int) ( [] !== $found );
	}

	public function json_unquote( $text ) {
		if ( ! is_string( $text ) || strlen( $text ) < 2 || '"' !== $text[0] || '"' !== $text[-1] ) {
			return (string) $text;
		}
		return Json::read( $text, $value ) && is_string( $value ) ? $value : $text;
	}

	public function json_quote( $text ): ?string {
		return is_string( $text ) ? Json::write( $text ) : null;
	}

	public function json_array( ...$values ): string {
		return Json::write( array_map( [ $this, 'part' ], $values ) );
	}

	public function json_object( ...$values ): ?string {
		$object = new stdClass();
		for ( $at = 0; $at + 1 < count( $values ); $at += 2 ) {
			$object->{(string) $values[ $at ]} = $this->part( $values[ $at + 1 ] );
		}
		return Json::write( $object );
	}

	public function json_contains( $target, $candidate, $path = '$' ): ?int {
		$found = $this->find( $target, $path );
		if ( null === $found || [] === $found || ! $this->document( $candidate, $wanted ) ) {
			return null;
		}
		return (int) Json::contains( $found[0], $wanted );
	}

	/** @param string $how ONE or ALL of the paths. */
	public function json_contains_path( $document, $how, ...$paths ): ?int {
		$paths = $this->paths( $paths );
		if ( null === $how || null === $paths || ! $this->document( $document, $value ) ) {
			return null;
		}
		$present = count( array_filter( $paths, static fn ( $path ) => [] !== $path->find( $value ) ) );
		return (int) ( 'all' === strtolower( $how ) ? count( $paths ) === $present : $present > 0 );
	}

	public function json_keys( $document, $path = '$' ): ?string {
		$found = $this->find( $document, $path );
		if ( null === $found || ! ( $found[0] ?? null ) instanceof stdClass ) {
			return null;
		}
		return Json::write( array_map( 'strval', array_keys( (array) $found[0] ) ) );
	}

	public function json_length( $document, $path = '$' ): ?int {
		$found = $this->find( $document, $path );
		return null === $found || [] === $found ? null : Json::length( $found[0] );
	}

	public function json_depth( $document ): ?int {
		return $this->document( $document, $value ) ? Json::depth( $value ) : null;
	}

	public function json_type( $document ): ?string {
		return $this->document( $document, $value ) ? Json::type( $value ) : null;
	}

	/** Returns the paths of the strings that are LIKE a text. */
	public function json_search( $document, $how, $text, $escape = null, ...$paths ): ?string {
		if ( null === $how || null === $text || ! $this->document( $document, $value ) ) {
			return null;
		}
		$escape = null === $escape || '' === $escape ? '\\' : $escape;
		$found  = [];
		foreach ( [] === $paths ? [ '$' ] : $paths as $start ) {
			foreach ( $this->find( $document, $start ) ?? [] as $part ) {
				array_push( $found, ...$this->search( $part, (string) $text, $escape, (string) $start ) );
			}
		}
		if ( [] === $found ) {
			return null;
		}
		return Json::write( 'one' === strtolower( $how ) || 1 === count( $found ) ? $found[0] : $found );
	}

	public function json_set( $document, ...$changes ): ?string {
		return $this->changed( $document, $changes, fn ( bool $exists, $old, $new ) => [ $new ] );
	}

	public function json_insert( $document, ...$changes ): ?string {
		return $this->changed( $document, $changes, fn ( bool $exists, $old, $new ) => [ $exists ? $old : $new ] );
	}

	public function json_replace( $document, ...$changes ): ?string {
		return $this->changed( $document, $changes, fn ( bool $exists, $old, $new ) => $exists ? [ $new ] : [] );
	}

	public function json_array_append( $document, ...$changes ): ?string {
		return $this->changed( $document, $changes, fn ( bool $exists, $old, $new ) => $exists ? [ array_merge( is_array( $old ) ? $old : [ $old ], [ $new ] ) ] : [] );
	}

	public function json_array_insert( $document, ...$changes ): ?string {
		return $this->changed( $document, $changes, fn ( bool $exists, $old, $new ) => $exists ? [ $new, $old ] : [ $new ] );
	}

	public function json_remove( $document, ...$paths ): ?string {
		$paths = $this->paths( $paths );
		if ( null === $paths || ! $this->document( $document, $value ) ) {
			return null;
		}
		foreach ( $paths as $path ) {
			if ( $path->is_root() ) {
				return null;
			}
			$value = $path->change( $value, static fn () => [] );
		}
		return Json::write( $value );
	}

	public function json_merge_preserve( ...$documents ): ?string {
		return $this->combined( $documents, [ Json::class, 'merge' ] );
	}

	public function json_merge_patch( ...$documents ): ?string {
		return $this->combined( $documents, [ Json::class, 'patch' ] );
	}

	public function json_overlaps( $a, $b ): ?int {
		return $this->document( $a, $first ) && $this->document( $b, $second ) ? (int) Json::overlap( $first, $second ) : null;
	}

	public function json_pretty( $document ): ?string {
		if ( ! $this->document( $document, $value ) ) {
			return null;
		}
		$text = json_encode( $value, JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION );
		return preg_replace_callback( '/^ +/m', static fn ( $spaces ) => str_repeat( ' ', intdiv( strlen( $spaces[0] ), 2 ) ), (string) $text );
	}

	public function json_compact( $document ): ?string {
		return $this->document( $document, $value ) ? json_encode( $value, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION ) : null;
	}

	public function mysql_json( $value ): ?string {
		return $this->document( $value, $document ) ? Json::write( $document ) : null;
	}

	/** Joins the texts of a JSON list, for GROUP_CONCAT. */
	public function mysql_join( $list, $separator ): ?string {
		$texts = array_filter( json_decode( $list ), static fn ( $text ) => null !== $text );
		return [] === $texts ? null : implode( $separator, $texts );
	}

	/** Reads a document. Numbers are documents too. */
	private function document( $text, &$value ): bool {
		if ( is_int( $text ) || is_float( $text ) ) {
			$value = $text;
			return true;
		}
		return is_string( $text ) && Json::read( $text, $value );
	}

	/** A document becomes a part as such; a text becomes a string, even if it is JSON. */
	private function part( $value ) {
		if ( is_string( $value ) && str_starts_with( $value, self::MARK ) ) {
			return Json::read( substr( $value, strlen( self::MARK ) ), $document ) ? $document : null;
		}
		return is_string( $value ) && ! mb_check_encoding( $value, 'UTF-8' ) ? mb_scrub( $value ) : $value;
	}

	/** @return Json_Path[]|null */
	private function paths( array $texts ): ?array {
		$paths = array_map( static fn ( $text ) => null === $text ? null : Json_Path::parse( (string) $text ), $texts );
		return in_array( null, $paths, true ) ? null : $paths;
	}

	private function find( $document, $path ): ?array {
		$parsed = $this->paths( [ $path ] );
		return null === $parsed || ! $this->document( $document, $value ) ? null : $parsed[0]->find( $value );
	}

	/** @param callable(bool $exists, mixed $old, mixed $new): array $change See Json_Path::change. */
	private function changed( $document, array $changes, callable $change ): ?string {
		if ( ! $this->document( $document, $value ) ) {
			return null;
		}
		if ( 0 !== count( $changes ) % 2 ) {
			throw new ArgumentCountError( 'Too few arguments to function ' . self::class . '::json_set()' );
		}
		foreach ( array_chunk( $changes, 2 ) as [ $text, $new ] ) {
			$path = null === $text ? null : Json_Path::parse( (string) $text );
			if ( null === $path || $path->has_wildcards() ) {
				return null;
			}
			$new = $this->part( $new );
			if ( $path->is_root() ) {
				$value = $change( true, $value, $new )[0];
			} else {
				$value = $path->change( $value, static fn ( bool $exists, $old ) => $change( $exists, $old, $new ) );
			}
		}
		return Json::write( $value );
	}

	private function combined( array $documents, callable $combine ): ?string {
		$result = null;
		foreach ( $documents as $at => $document ) {
			if ( ! $this->document( $document, $value ) ) {
				return null;
			}
			$result = 0 === $at ? $value : $combine( $result, $value );
		}
		return Json::write( $result );
	}

	/** @return string[] */
	private function search( $value, string $pattern, string $escape, string $path ): array {
		if ( is_string( $value ) ) {
			return Letters::matches( $value, $pattern, $escape ) ? [ $path ] : [];
		}
		$found = [];
		foreach ( is_array( $value ) || $value instanceof stdClass ? (array) $value : [] as $key => $each ) {
			$step = is_array( $value ) ? "[$key]" : '.' . ( 1 === preg_match( '/^[a-z_$][\w$]*$/iD', (string) $key ) ? $key : Json::write( (string) $key ) );
			array_push( $found, ...$this->search( $each, $pattern, $escape, $path . $step ) );
		}
		return $found;
	}
}
