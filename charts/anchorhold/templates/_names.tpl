{{- /* Labels of every object of the chart. */ -}}
{{- define "anchorhold.labels" -}}
{{ include "anchorhold.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: anchorhold
{{- /* Not managed-by=anchorhold: by that label the operator finds what belongs to its jobs. */}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- /* The labels that select the operator's pods. */ -}}
{{- define "anchorhold.selector" -}}
app.kubernetes.io/name: anchorhold
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "anchorhold.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (printf "%s-operator" .Release.Name) }}
{{- end -}}

{{- /* The operator as the API server knows it. */ -}}
{{- define "anchorhold.username" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "anchorhold.serviceAccount" . }}
{{- end -}}

{{- /* The reference of an image: called with (list $ .Values.image). */ -}}
{{- define "anchorhold.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default $root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* The namespaces of the jobs, as the selector of a policy's binding; nothing where it is the whole cluster. */ -}}
{{- define "anchorhold.bindingScope" -}}
{{- with .Values.watch.namespaces }}
matchResources:
  namespaceSelector:
    matchExpressions:
    - {key: kubernetes.io/metadata.name, operator: In, values: {{ toJson . }}}
{{- end }}
{{- end -}}
