// SPDX-License-Identifier: Apache-2.0
/**
 * Mail through SMTP servers over four kinds of mailboxes, as in section 6.8 of the thesis on
 * replicated LSM trees; and how many deliveries the mailboxes themselves can number.
 */
package io.isolde.bench.mail;
