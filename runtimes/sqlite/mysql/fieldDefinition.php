<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_Parser_Node;

/** A column's definition in a statement: whether its rows need values that nobody has given. */
final class Field_Definition {
	private const NUMBERS = [
		...[ 'tinyint', 'smallint', 'mediumint', 'int', 'integer', 'bigint', 'bool', 'boolean', 'bit', 'float', 'double', 'real' ],
		...[ 'decimal', 'numeric' ],
	];
	private const TIMES   = [
		'date'      => "'0000-00-00'",
		'datetime'  => "'0000-00-00 00:00:00'",
		'timestamp' => "'0000-00-00 00:00:00'",
		'time'      => "'00:00:00'",
		'year'      => "'0000'",
	];

	private WP_Parser_Node $field;

	public function __construct( WP_Parser_Node $field ) {
		$this->field = $field;
	}

	/** Whether it says NOT NULL, or PRIMARY KEY. */
	public function is_required(): bool {
		return $this->has_attribute( WP_MySQL_Lexer::NOT_SYMBOL ) || $this->has_attribute( WP_MySQL_Lexer::PRIMARY_SYMBOL );
	}

	/** Whether rows get a value by themselves. */
	public function has_value(): bool {
		return $this->has_attribute( WP_MySQL_Lexer::DEFAULT_SYMBOL ) || $this->has_attribute( WP_MySQL_Lexer::AUTO_INCREMENT_SYMBOL );
	}

	private function has_attribute( int $token ): bool {
		foreach ( $this->field->get_child_nodes( 'columnAttribute' ) as $attribute ) {
			if ( $attribute->has_child_token( $token ) ) {
				return true;
			}
		}
		return false;
	}

	/** Returns the value that MySQL gives to rows without one, as a literal of MySQL. */
	public function implicit_value(): string {
		$definition = $this->field->get_first_descendant_node( 'dataType' );
		$type       = strtolower( $definition->get_first_descendant_token()->get_value() );
		if ( 'enum' === $type ) {
			return $definition->get_first_descendant_node( 'textString' )->get_first_descendant_token()->get_bytes();
		}
		return 'bit' === $type ? "b'0'" : self::implicit_value_of( $type );
	}

	/** Returns what a column of a type (in lower case) gets that can't be NULL, as a literal of SQLite. */
	public static function implicit_value_of( string $type ): string {
		return in_array( $type, self::NUMBERS, true ) ? '0' : self::TIMES[ $type ] ?? "''";
	}
}
