<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;

/** Decides by the tokens of a statement whether it may have columns of decimals as results. WordPress's own tables have none. */
final class Digit_Triggers {
	/** Tokens before a `*` that stands for columns. */
	private const BEFORE_STARS = [
		Lexer::SELECT_SYMBOL              => true,
		Lexer::DISTINCT_SYMBOL            => true,
		Lexer::SQL_CALC_FOUND_ROWS_SYMBOL => true,
		Lexer::COMMA_SYMBOL               => true,
		Lexer::DOT_SYMBOL                 => true,
	];
	/** Tokens of texts, which are no names. All others may be, also keywords. */
	private const TEXTS = [
		Lexer::SINGLE_QUOTED_TEXT => true,
		Lexer::DOUBLE_QUOTED_TEXT => true,
		Lexer::NCHAR_TEXT         => true,
	];
	/** The first tokens of statements that have results. */
	private const FIRST = [
		Lexer::SELECT_SYMBOL   => true,
		Lexer::OPEN_PAR_SYMBOL => true,
		Lexer::WITH_SYMBOL     => true,
	];

	private Columns $columns;

	public function __construct( Columns $columns ) {
		$this->columns = $columns;
	}

	/** Whether a rule may apply. @param WP_MySQL_Token[] $tokens */
	public function apply( array $tokens ): bool {
		if ( ! isset( self::FIRST[ $tokens[0]->id ] ) || [] === $this->columns->tables_with_digits() ) {
			return false;
		}
		$names     = $this->columns->names();
		$tables    = $this->columns->tables_with_digits();
		$previous  = null;
		$has_star  = false;
		$has_table = false;
		foreach ( $tokens as $token ) {
			$id = $token->id;
			if ( Lexer::MULT_OPERATOR === $id ) {
				$has_star = $has_star || isset( self::BEFORE_STARS[ $previous ] );
			} elseif ( ! isset( self::TEXTS[ $id ] ) ) {
				$name = strtolower( $token->get_value() );
				if ( 0 !== ( ( $names[ $name ] ?? 0 ) & Columns::DIGITS ) ) {
					return true;
				}
				$has_table = $has_table || isset( $tables[ $name ] );
			}
			$previous = $id;
		}
		return $has_star && $has_table;
	}
}
