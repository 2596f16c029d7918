// SPDX-License-Identifier: Apache-2.0
/** Users, their passwords, and how often one may guess. */
package io.isolde.mail.login;
