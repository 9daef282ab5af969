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
		if ( ! isset( self::FIRST[ $tokens[0]->id ] ) || ! $this->columns->have_digits() ) {
			return false;
		}
		$names    = $this->columns->names();
		$previous = null;
		foreach ( $tokens as $token ) {
			if ( Lexer::MULT_OPERATOR === $token->id ) {
				if ( isset( self::BEFORE_STARS[ $previous ] ) ) {
					return true;
				}
			} elseif ( 0 !== ( ( $names[ strtolower( $token->get_value() ) ] ?? 0 ) & Columns::DIGITS ) ) {
				return true;
			}
			$previous = $token->id;
		}
		return false;
	}
}
