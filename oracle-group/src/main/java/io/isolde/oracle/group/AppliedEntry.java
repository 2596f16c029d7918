// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Answer;
import java.util.List;

/**
 * What applying an entry leads to.
 *
 * @param nowStable who has waited for what is stable now
 */
record AppliedEntry(List<Answer> answers, Stable stable, List<Request> nowStable) {}
