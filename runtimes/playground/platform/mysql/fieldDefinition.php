<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_Parser_Node;

/** A column's definition in a statement: whether its rows need values that nobody has given. */
final class Field_Definition {
	/** What a column that can't be NULL gets instead, by type; texts and bytes get none. */
	private const IMPLICIT = [
		WP_MySQL_Lexer::TINYINT_SYMBOL   => '0',
		WP_MySQL_Lexer::SMALLINT_SYMBOL  => '0',
		WP_MySQL_Lexer::MEDIUMINT_SYMBOL => '0',
		WP_MySQL_Lexer::INT_SYMBOL       => '0',
		WP_MySQL_Lexer::INTEGER_SYMBOL   => '0',
		WP_MySQL_Lexer::BIGINT_SYMBOL    => '0',
		WP_MySQL_Lexer::BOOL_SYMBOL      => '0',
		WP_MySQL_Lexer::BOOLEAN_SYMBOL   => '0',
		WP_MySQL_Lexer::BIT_SYMBOL       => "b'0'",
		WP_MySQL_Lexer::FLOAT_SYMBOL     => '0',
		WP_MySQL_Lexer::DOUBLE_SYMBOL    => '0',
		WP_MySQL_Lexer::REAL_SYMBOL      => '0',
		WP_MySQL_Lexer::DECIMAL_SYMBOL   => '0',
		WP_MySQL_Lexer::NUMERIC_SYMBOL   => '0',
		WP_MySQL_Lexer::DATE_SYMBOL      => "'0000-00-00'",
		WP_MySQL_Lexer::DATETIME_SYMBOL  => "'0000-00-00 00:00:00'",
		WP_MySQL_Lexer::TIMESTAMP_SYMBOL => "'0000-00-00 00:00:00'",
		WP_MySQL_Lexer::TIME_SYMBOL      => "'00:00:00'",
		WP_MySQL_Lexer::YEAR_SYMBOL      => "'0000'",
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

	/** Returns the value that MySQL gives to rows without one, as a literal. */
	public function implicit_value(): string {
		$type = $this->field->get_first_descendant_node( 'dataType' )->get_first_descendant_token()->id;
		return self::IMPLICIT[ $type ] ?? "''";
	}
}
