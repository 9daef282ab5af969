<?php
namespace WP_MySQL_Layer;

/** The members of a column of ENUM or SET, and what the column keeps of a value. */
final class Members {
	/** As in the column's definition: `enum('a','b')`. */
	public readonly string $type;
	/** @var string[] */
	public readonly array $names;
	public readonly bool $is_set;

	public function __construct( string $type ) {
		$this->type = $type;
		preg_match_all( "/'((?:[^']|'')*)'/", $type, $found );
		$this->names  = str_replace( "''", "'", $found[1] );
		$this->is_set = str_starts_with( $type, 'set' );
	}

	/**
	 * Returns what the column keeps of a text or number: a member, or members of SET in their order. It keeps `''` of others.
	 *
	 * @param string|int|float $value
	 */
	public function kept( $value ): string {
		return implode( ',', array_intersect_key( $this->names, array_flip( array_filter( $this->positions( $value ), 'is_int' ) ) ) );
	}

	/** Whether the column takes a value in strict mode. @param string|int|float $value */
	public function has( $value ): bool {
		return $this->is_set && '' === $value ? true : ! in_array( null, $this->positions( $value ), true );
	}

	/** Whether the members are in the order of the alphabet, in which SQLite sorts them. */
	public function are_sorted(): bool {
		$sorted = $this->names;
		usort( $sorted, 'strcasecmp' );
		return $sorted === $this->names && ! $this->is_set;
	}

	/** Returns the positions of the members that a value means; null for a member that the column has not. */
	private function positions( $value ): array {
		if ( ! is_string( $value ) ) {
			return $this->numbered( (int) round( $value ) );
		}
		$texts     = $this->is_set ? array_filter( explode( ',', $value ), 'strlen' ) : [ $value ];
		$positions = array_map( [ $this, 'position' ], $texts );
		return in_array( null, $positions, true ) && ctype_digit( $value ) ? $this->numbered( (int) $value ) : $positions;
	}

	private function position( string $text ): ?int {
		$text = Letters::fold( rtrim( $text, ' ' ) );
		foreach ( $this->names as $position => $name ) {
			if ( Letters::fold( $name ) === $text || 0 === strcasecmp( $name, $text ) ) {
				return $position;
			}
		}
		return null;
	}

	/** Members of ENUM are numbered from 1 on; the number of SET has a bit for each. */
	private function numbered( int $number ): array {
		if ( ! $this->is_set ) {
			return [ isset( $this->names[ $number - 1 ] ) ? $number - 1 : null ];
		}
		$found = array_filter( array_keys( $this->names ), static fn ( int $position ) => 0 !== ( $number >> $position & 1 ) );
		return $number >> count( $this->names ) > 0 ? [ ...$found, null ] : $found;
	}
}
