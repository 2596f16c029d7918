// SPDX-License-Identifier: Apache-2.0
/**
 * The closed set of errors: what happened, where, whether to retry, whether the outcome is known.
 */
package io.isolde.error;
