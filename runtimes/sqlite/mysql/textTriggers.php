<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;

/**
 * Decides by the tokens of a statement whether rules about texts may apply: texts against numbers, and letters beyond ASCII.
 * Most statements compare a number with a column of numbers, or a short text with an indexed column, and need none.
 */
final class Text_Triggers {
	private const COMPARISONS = [
		Lexer::EQUAL_OPERATOR            => true,
		Lexer::NULL_SAFE_EQUAL_OPERATOR  => true,
		Lexer::NOT_EQUAL_OPERATOR        => true,
		Lexer::GREATER_THAN_OPERATOR     => true,
		Lexer::GREATER_OR_EQUAL_OPERATOR => true,
		Lexer::LESS_THAN_OPERATOR        => true,
		Lexer::LESS_OR_EQUAL_OPERATOR    => true,
		Lexer::BETWEEN_SYMBOL            => true,
	];
	private const NUMBERS = [
		Lexer::INT_NUMBER       => true,
		Lexer::LONG_NUMBER      => true,
		Lexer::ULONGLONG_NUMBER => true,
		Lexer::DECIMAL_NUMBER   => true,
		Lexer::FLOAT_NUMBER     => true,
	];
	private const SUMS = [
		Lexer::PLUS_OPERATOR  => true,
		Lexer::MINUS_OPERATOR => true,
		Lexer::MULT_OPERATOR  => true,
		Lexer::DIV_OPERATOR   => true,
	];
	private const TEXTS = [
		Lexer::SINGLE_QUOTED_TEXT => true,
		Lexer::DOUBLE_QUOTED_TEXT => true,
	];
	/** Words among sorted expressions that are no names. */
	private const WORDS = [
		'as'     => true,
		'asc'    => true,
		'by'     => true,
		'desc'   => true,
		'for'    => true,
		'having' => true,
		'limit'  => true,
		'lock'   => true,
		'null'   => true,
		'order'  => true,
		'rollup' => true,
		'update' => true,
		'with'   => true,
	];

	/** Lengths of `2024-01-31`, `2024-01-31 12:00:00` and `12:00:00`. */
	private const DATE_LENGTH   = 10;
	private const MOMENT_LENGTH = 19;
	private const CLOCK_LENGTH  = 8;

	/** The tokens that `rules` needs to know the positions of. */
	public const MARKS = [
		...[ Lexer::EQUAL_OPERATOR, Lexer::NULL_SAFE_EQUAL_OPERATOR, Lexer::NOT_EQUAL_OPERATOR, Lexer::GREATER_THAN_OPERATOR ],
		...[ Lexer::GREATER_OR_EQUAL_OPERATOR, Lexer::LESS_THAN_OPERATOR, Lexer::LESS_OR_EQUAL_OPERATOR, Lexer::BETWEEN_SYMBOL ],
		...[ Lexer::IN_SYMBOL, Lexer::LIKE_SYMBOL, Lexer::ORDER_SYMBOL, Lexer::GROUP_SYMBOL, Lexer::DISTINCT_SYMBOL ],
	];

	private Columns $columns;

	public function __construct( Columns $columns ) {
		$this->columns = $columns;
	}

	/**
	 * Whether a rule may apply.
	 *
	 * @param WP_MySQL_Token[] $tokens
	 * @param int[]            $marks  Positions of tokens in `MARKS`.
	 */
	public function apply( array $tokens, array $marks ): bool {
		foreach ( $marks as $position ) {
			$id = $tokens[ $position ]->id;
			if ( isset( self::COMPARISONS[ $id ] ) ) {
				$found = $this->comparison( $tokens, $position );
			} elseif ( Lexer::IN_SYMBOL === $id ) {
				$found = $this->list_of_values( $tokens, $position );
			} elseif ( Lexer::LIKE_SYMBOL === $id ) {
				$found = $this->pattern( $tokens, $position );
			} elseif ( Lexer::DISTINCT_SYMBOL === $id ) {
				// The word may be DISTINCTROW.
				$found = 8 !== $tokens[ $position ]->length || $this->names_until( $tokens, $position + 1, Lexer::FROM_SYMBOL, true );
			} else {
				$found = $this->names_until( $tokens, $position + 2, Lexer::LIMIT_SYMBOL, Lexer::GROUP_SYMBOL === $id );
			}
			if ( $found ) {
				return true;
			}
		}
		return false;
	}

	private function comparison( array $tokens, int $position ): bool {
		$left  = $tokens[ $position - 1 ] ?? null;
		$right = $tokens[ $position + 1 ] ?? null;
		if ( null === $left || null === $right ) {
			return false;
		}
		if ( Lexer::MINUS_OPERATOR === $right->id ) {
			$right = $tokens[ $position + 2 ] ?? $right;
		}
		if ( Lexer::NOT_SYMBOL === $left->id ) {
			$left = $tokens[ $position - 2 ] ?? $left;
		}
		return $this->pair( $left, $right ) || $this->pair( $right, $left ) || $this->is_time_against_sum( $tokens, $position )
			|| ( $this->columns->have_bytes() && ( $this->has_bytes( $left ) || $this->has_bytes( $right ) ) );
	}

	/** Whether it is such as `column < NOW() - 300`. The sum begins with a name, or a call without arguments. */
	private function is_time_against_sum( array $tokens, int $position ): bool {
		$next = $position + 2;
		if ( Lexer::OPEN_PAR_SYMBOL === ( $tokens[ $next ]->id ?? null ) && Lexer::CLOSE_PAR_SYMBOL === ( $tokens[ $next + 1 ]->id ?? null ) ) {
			$next += 2;
		}
		return isset( self::SUMS[ $tokens[ $next ]->id ?? -1 ] )
			&& Lexer::INTERVAL_SYMBOL !== ( $tokens[ $next + 1 ]->id ?? null )
			&& 0 !== ( $this->kinds( $tokens[ $position - 1 ] ) & Columns::TIME );
	}

	/** Whether it names columns of bytes. */
	private function has_bytes( WP_MySQL_Token $token ): bool {
		return 0 !== ( $this->kinds( $token ) & Columns::BYTES );
	}

	private function pair( WP_MySQL_Token $literal, WP_MySQL_Token $other ): bool {
		if ( isset( self::NUMBERS[ $literal->id ] ) ) {
			if ( isset( self::TEXTS[ $other->id ] ) || Lexer::CLOSE_PAR_SYMBOL === $other->id ) {
				return true;
			}
			return 0 !== ( $this->kinds( $other ) & ( Columns::TEXT | Columns::TIME ) );
		}
		if ( ! isset( self::TEXTS[ $literal->id ] ) ) {
			return false;
		}
		if ( isset( self::TEXTS[ $other->id ] ) || Lexer::CLOSE_PAR_SYMBOL === $other->id ) {
			return true;
		}
		$kinds = $this->kinds( $other );
		if ( 0 === $kinds ) {
			// The name of a result.
			return Letters::beyond_ascii( $literal->get_bytes() ) && $this->is_name( $other );
		}
		return $this->text_matters( $literal, $kinds );
	}

	private function text_matters( WP_MySQL_Token $text, int $kinds ): bool {
		if ( 0 !== ( $kinds & Columns::TIME ) && $this->is_other_date( $text, $kinds ) ) {
			return true;
		}
		if ( 0 !== ( $kinds & Columns::TEXT ) ) {
			$is_kept = 0 !== ( $kinds & ( Columns::INDEXED | Columns::SHORT ) );
			return Letters::beyond_ascii( $text->get_bytes() ) || ( ! $is_kept && Letters::has_letter( $text->get_bytes() ) );
		}
		return 0 !== ( $kinds & Columns::NUMBER ) && ! is_numeric( $text->get_value() );
	}

	/** Whether a literal date or time has another form than the columns that it may be compared with. */
	private function is_other_date( WP_MySQL_Token $text, int $kinds ): bool {
		$length    = $text->length - 2;
		$is_date   = 0 !== ( $kinds & Columns::DATE ) && self::DATE_LENGTH !== $length;
		$is_moment = 0 !== ( $kinds & Columns::MOMENT ) && self::MOMENT_LENGTH !== $length;
		$is_clock  = 0 !== ( $kinds & Columns::CLOCK ) && self::CLOCK_LENGTH !== $length;
		return $is_date || $is_moment || $is_clock;
	}

	private function list_of_values( array $tokens, int $position ): bool {
		$name = $tokens[ $position - 1 ];
		if ( Lexer::NOT_SYMBOL === $name->id ) {
			$name = $tokens[ $position - 2 ];
		}
		if ( Lexer::CLOSE_PAR_SYMBOL === $name->id || isset( self::TEXTS[ $name->id ] ) || isset( self::NUMBERS[ $name->id ] ) ) {
			return true;
		}
		$kinds = $this->kinds( $name );
		if ( 0 !== ( $kinds & Columns::BYTES ) ) {
			return true;
		}
		for ( $i = $position + 2, $count = count( $tokens ); $i < $count; ++$i ) {
			$token = $tokens[ $i ];
			if ( isset( self::TEXTS[ $token->id ] ) ) {
				if ( $this->text_matters( $token, $kinds ) ) {
					return true;
				}
			} elseif ( isset( self::NUMBERS[ $token->id ] ) ) {
				if ( 0 === ( $kinds & Columns::TEXT ) ) {
					// A list of ids.
					return false;
				}
				return true;
			} elseif ( Lexer::COMMA_SYMBOL !== $token->id ) {
				return false;
			}
		}
		return false;
	}

	private function pattern( array $tokens, int $position ): bool {
		$pattern = $tokens[ $position + 1 ];
		return ! isset( self::TEXTS[ $pattern->id ] ) || Letters::has_letter( $pattern->get_bytes() )
			|| Lexer::ESCAPE_SYMBOL === ( $tokens[ $position + 2 ]->id ?? null );
	}

	/** Whether a column of texts is named up to a token, or a name that no column has. */
	private function names_until( array $tokens, int $start, int $end, bool $unless_indexed ): bool {
		$depth = 0;
		for ( $i = $start, $count = count( $tokens ); $i < $count; ++$i ) {
			$id = $tokens[ $i ]->id;
			if ( Lexer::OPEN_PAR_SYMBOL === $id ) {
				++$depth;
			} elseif ( Lexer::CLOSE_PAR_SYMBOL === $id && --$depth < 0 ) {
				return false;
			} elseif ( $end === $id && 0 === $depth ) {
				return false;
			}
			$next = $tokens[ $i + 1 ]->id ?? null;
			$is_alias = Lexer::AS_SYMBOL === $tokens[ $i - 1 ]->id;
			if ( Lexer::DOT_SYMBOL === $next || Lexer::OPEN_PAR_SYMBOL === $next || $is_alias ) {
				continue;
			}
			$kinds    = $this->kinds( $tokens[ $i ] );
			$is_kept  = $unless_indexed && 0 !== ( $kinds & Columns::INDEXED );
			$is_other = 0 === $kinds && $this->is_name( $tokens[ $i ] );
			if ( $is_other || ( 0 !== ( $kinds & Columns::TEXT ) && ! $is_kept ) ) {
				return true;
			}
		}
		return false;
	}

	private function is_name( WP_MySQL_Token $token ): bool {
		$text = $token->get_value();
		return 1 === preg_match( '/^[a-z_]/i', $text ) && ! isset( self::TEXTS[ $token->id ] ) && ! isset( self::WORDS[ strtolower( $text ) ] );
	}

	private function kinds( WP_MySQL_Token $token ): int {
		return $this->columns->names()[ strtolower( $token->get_value() ) ] ?? 0;
	}
}
