// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Answer;
import java.util.Optional;

/**
 * The answer to a command, durable.
 *
 * @param applied what was stable when the leader had applied the commit that the command asked for;
 *     empty if it has not
 */
record Carried(Answer answer, Optional<Stable> applied) {}
